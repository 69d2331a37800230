// @ts-check
// Types for the panels: the store, the connection, and the messages of the simulator as in docs/page_protocol.md.

/** @typedef {import("../store.js").Store} Store */
/** @typedef {import("../net.js").Net} Net */
/** @typedef {import("../protocol.js").Message} Message */
/** @typedef {{store: Store, net: Net, driving: import("../input.js").Driving}} Context */

/** @typedef {{name: string, kind: string, keyword: string, unit: string, low: number, high: number, reset: number}} ActuatorScene */
/** @typedef {{key: string, label: string, does: string, group?: string, mode?: string}} KeyScene */
/** @typedef {{name: string, kind: string, waypoints: boolean}} ControllerScene */
/** @typedef {{name: string, rope?: string, low: number, high: number}} WinchScene */
/** @typedef {{name: string, kind: string, rate: number, link: string, streams: string[], can_be_triggered: boolean, display: DisplayScene[]}} SensorScene */
/** Display of a sensor: its kind, the names of the fields that it shows, the unit of each field, and its settings. @typedef {{kind: string, units: Record<string, string>} & Record<string, any>} DisplayScene */
/** @typedef {{name: string, vehicle: string, title: string, body: number, keys: KeyScene[], actuators: ActuatorScene[], sensors: SensorScene[], controllers: ControllerScene[], winches: WinchScene[], transceivers: string[]}} RobotScene */
/** @typedef {{name: string, id: number, kind: number, robot?: string, sensor?: string, title: string, fields?: string[], units?: string[], display?: DisplayScene}} StreamScene */
/** @typedef {{scenario: string, title: string, summary: string, seed: number, geo: null | {lat: number, lon: number}, robots: RobotScene[], streams: StreamScene[], terrain: any[], water: any}} Scene */

/** @typedef {{target: number, value: number, unit: string}} ActuatorState */
/** @typedef {{length: number, target: number, speed: number, tension: number, distance: number, loaded: boolean}} WinchState */
/** @typedef {{control: string | null, controller: string | null, lease: string | null, held: string[], position: number[], orientation: number[], speed: number, depth: number, altitude: number | null, heading_deg: number, roll_deg: number, pitch_deg: number, lat: number | null, lon: number | null, actuators: Record<string, ActuatorState>, indicators: Record<string, number | boolean | null>, waypoint: null | {position: number[], tolerance: number}, winches: Record<string, WinchState>}} RobotState */
/** @typedef {{time: number, tick: number, paused: boolean, rate: number | null, rtf: number, mode: "live" | "replay", replay?: {start: number, end: number, t: number}, recording: null | {path: string, seconds: number}, clients: number, scenario: string, seed: number, snapshots: string[], interfaces: {name: string, kind: string, status: string}[], robots: Record<string, RobotState>}} State */

export {};
