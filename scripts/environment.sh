# Sourced by scripts/run and scripts/test: creates .venv and installs Skerry into it when necessary.
# After `prepare_environment`, $root is the repository and $python the interpreter in .venv.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=$root/.venv
python=$venv/bin/python

say() { echo "skerry: $*" >&2; }

is_new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 </dev/null
}

find_python() {
    local candidate
    for candidate in python3 python3.13 python3.12 python3.11; do
        if is_new_enough "$candidate"; then
            echo "$candidate"
            return
        fi
    done
    say "no Python 3.11 or newer found (looked for python3, python3.13, python3.12 and python3.11)."
    say "Install one, for example with: sudo apt-get install python3 python3-venv"
    return 1
}

# Install Debian packages if that is possible without a prompt: as root, or with a password-free sudo.
install_packages() {
    local as_root=()
    command -v apt-get >/dev/null || return 1
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null && sudo -n true 2>/dev/null || return 1
        as_root=(sudo -n)
    fi
    say "installing the system package $* …"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq update >&2 </dev/null || true
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends "$@" >&2 </dev/null
}

# Debian and Ubuntu ship Python without the module that installs pip into a new environment.
can_make_venv() { "$1" -c 'import ensurepip, venv' >/dev/null 2>&1 </dev/null; }

make_venv() {
    local base version
    base=$(find_python)
    version=$("$base" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    can_make_venv "$base" || install_packages "python$version-venv" || install_packages python3-venv || true
    say "creating .venv with Python $version …"
    if can_make_venv "$base"; then
        "$base" -m venv --clear "$venv"
    elif "$base" -m pip --version >/dev/null 2>&1; then
        "$base" -m venv --clear --without-pip "$venv"
        "$base" -m pip --python "$python" install --quiet --quiet --no-input pip
    else
        say "$base cannot create a virtual environment, and the package for it could not be installed."
        say "Install it, then try again: sudo apt-get install python$version-venv"
        return 1
    fi
}

# prepare_environment [EXTRA]: install again only if a pyproject.toml or the path of the repository has changed.
prepare_environment() {
    local extra=${1:-} wanted stamp
    is_new_enough "$python" || make_venv
    stamp=$venv/installed${extra:+-$extra}
    wanted="$(cat "$root/pyproject.toml" "$root"/plugins/*/pyproject.toml | sha256sum) $root"
    if [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
        say "installing Skerry${extra:+ and its test dependencies} into .venv; the first time this takes a minute or two …"
        # Most installed modules are never imported; Python compiles the others at import.
        "$python" -m pip install --quiet --quiet --no-input --disable-pip-version-check --no-compile \
            --editable "$root${extra:+[$extra]}" --editable "$root/plugins/skerry-ros1" </dev/null
        echo "$wanted" >"$venv/installed"
        echo "$wanted" >"$stamp"
    fi
}
