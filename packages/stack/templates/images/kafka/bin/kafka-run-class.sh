#!/usr/bin/env bash
# kafka-run-class.sh CLASS ARGUMENTS... runs a class. A link with the name of a tool runs the class of that tool. This script reads the same variables
# as Kafka's own script. Their defaults are for short tests, in which a better compiler and garbage collector save no time.
set -eu
home=/opt/kafka
log4j=tools-log4j2.yaml
heap=-Xmx256M
performance='-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Djava.awt.headless=true'
# The archive of classes exists only after docker/archive has run.
classes=
[ ! -e $home/kafka.jsa ] || classes=-XX:SharedArchiveFile=$home/kafka.jsa

case $(basename "$0") in
  kafka-server-start.sh) class=kafka.Kafka log4j=log4j2.yaml heap='-Xmx1G -Xms1G' ;;
  kafka-storage.sh) class=kafka.tools.StorageTool ;;
  kafka-configs.sh) class=kafka.admin.ConfigCommand ;;
  kafka-topics.sh) class=org.apache.kafka.tools.TopicCommand ;;
  kafka-broker-api-versions.sh) class=org.apache.kafka.tools.BrokerApiVersionsCommand ;;
  kafka-cluster.sh) class=org.apache.kafka.tools.ClusterTool ;;
  kafka-acls.sh) class=org.apache.kafka.tools.AclCommand ;;
  kafka-get-offsets.sh) class=org.apache.kafka.tools.GetOffsetShell ;;
  kafka-delete-records.sh) class=org.apache.kafka.tools.DeleteRecordsCommand ;;
  kafka-groups.sh) class=org.apache.kafka.tools.GroupsCommand ;;
  kafka-metadata-quorum.sh) class=org.apache.kafka.tools.MetadataQuorumCommand ;;
  kafka-consumer-groups.sh) class=org.apache.kafka.tools.consumer.group.ConsumerGroupCommand ;;
  kafka-console-consumer.sh) class=org.apache.kafka.tools.consumer.ConsoleConsumer heap=-Xmx512M ;;
  kafka-console-producer.sh) class=org.apache.kafka.tools.ConsoleProducer heap=-Xmx512M ;;
  *)
    class=${1:?usage: kafka-run-class.sh CLASS [ARGUMENTS...]}
    shift
    ;;
esac

# shellcheck disable=SC2086 # each of these is a list of options
exec java ${KAFKA_HEAP_OPTS:-$heap} ${KAFKA_JVM_PERFORMANCE_OPTS:-$performance} $classes ${KAFKA_JMX_OPTS:-} \
  ${KAFKA_LOG4J_OPTS:--Dlog4j2.configurationFile=$home/config/$log4j} "-Dkafka.logs.dir=${LOG_DIR:-$home/logs}" \
  -cp "$home/libs/*" ${KAFKA_OPTS:-} "$class" "$@"
