// A peer on Fast DDS, the middleware of ROS 2 unless one chooses another, with bytes in place of types.
//
//   peer hear TOPIC TYPE RELIABILITY SECONDS COUNT   prints so many messages, each as a line of hexadecimal CDR
//   peer say TOPIC TYPE RELIABILITY SECONDS CDR      writes a message ten times a second
//
// RELIABILITY is `reliable`, `best_effort` or `latched`. The participant is as it comes, and so finds others by multicast;
// its endpoints are as rmw_fastrtps has them.

#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>

using namespace eprosima::fastdds::dds;
using eprosima::fastrtps::rtps::InstanceHandle_t;
using eprosima::fastrtps::rtps::SerializedPayload_t;
using Bytes = std::vector<unsigned char>;
using Clock = std::chrono::steady_clock;

class Raw : public TopicDataType {
public:
    explicit Raw(const char* name) {
        setName(name);
        m_typeSize = 1024;  // it grows with the messages
        m_isGetKeyDefined = false;
        auto_fill_type_information(false);  // as rmw_fastrtps does
        auto_fill_type_object(false);
    }
    bool serialize(void* data, SerializedPayload_t* payload) override {
        const auto& bytes = *static_cast<Bytes*>(data);
        std::memcpy(payload->data, bytes.data(), bytes.size());
        payload->length = static_cast<uint32_t>(bytes.size());
        return true;
    }
    bool deserialize(SerializedPayload_t* payload, void* data) override {
        static_cast<Bytes*>(data)->assign(payload->data, payload->data + payload->length);
        return true;
    }
    std::function<uint32_t()> getSerializedSizeProvider(void* data) override {
        return [data] { return static_cast<uint32_t>(static_cast<Bytes*>(data)->size()); };
    }
    void* createData() override { return new Bytes; }
    void deleteData(void* data) override { delete static_cast<Bytes*>(data); }
    bool getKey(void*, InstanceHandle_t*, bool) override { return false; }
};

template <typename Qos>
Qos quality(const std::string& word) {
    Qos found;
    found.reliability().kind = word == "best_effort" ? BEST_EFFORT_RELIABILITY_QOS : RELIABLE_RELIABILITY_QOS;
    found.durability().kind = word == "latched" ? TRANSIENT_LOCAL_DURABILITY_QOS : VOLATILE_DURABILITY_QOS;
    found.history().depth = 10;
    found.endpoint().history_memory_policy = eprosima::fastrtps::rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
    found.data_sharing().off();
    return found;
}

int main(int count, char** words) {
    if (count != 7) return 2;
    const std::string what = words[1], topic_name = words[2], type_name = words[3], reliability = words[4];
    const auto end = Clock::now() + std::chrono::milliseconds(static_cast<int>(1000 * std::stod(words[5])));
    const char* domain = std::getenv("ROS_DOMAIN_ID");
    auto* factory = DomainParticipantFactory::get_instance();
    auto* participant = factory->create_participant(domain ? std::atoi(domain) : 0, PARTICIPANT_QOS_DEFAULT);
    TypeSupport(new Raw(type_name.c_str())).register_type(participant);
    auto* topic = participant->create_topic(topic_name, type_name, TOPIC_QOS_DEFAULT);
    int status = 1;
    if (what == "hear") {
        auto* subscriber = participant->create_subscriber(SUBSCRIBER_QOS_DEFAULT);
        auto* reader = subscriber->create_datareader(topic, quality<DataReaderQos>(reliability));
        Bytes bytes;
        SampleInfo info;
        for (int left = std::stoi(words[6]); left > 0 && Clock::now() < end;) {
            reader->wait_for_unread_message({0, 50'000'000});
            while (left > 0 && reader->take_next_sample(&bytes, &info) == ReturnCode_t::RETCODE_OK) {
                if (!info.valid_data) continue;
                for (unsigned char byte : bytes) std::printf("%02x", byte);
                std::puts("");
                if (--left == 0) status = 0;
            }
        }
    } else {
        auto settings = quality<DataWriterQos>(reliability);
        settings.publish_mode().kind = ASYNCHRONOUS_PUBLISH_MODE;
        auto* publisher = participant->create_publisher(PUBLISHER_QOS_DEFAULT);
        auto* writer = publisher->create_datawriter(topic, settings);
        Bytes bytes;
        const std::string text = words[6];
        for (size_t at = 0; at + 1 < text.size(); at += 2) bytes.push_back(std::stoi(text.substr(at, 2), nullptr, 16));
        PublicationMatchedStatus matched;
        for (; Clock::now() < end; std::this_thread::sleep_for(std::chrono::milliseconds(100))) {
            writer->get_publication_matched_status(matched);
            if (matched.total_count > 0) status = 0;
            writer->write(&bytes);
        }
    }
    participant->delete_contained_entities();
    factory->delete_participant(participant);
    return status;
}
