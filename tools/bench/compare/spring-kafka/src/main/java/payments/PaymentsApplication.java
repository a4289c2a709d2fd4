package payments;

import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.core.log.LogAccessor;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.kafka.listener.BatchListenerFailedException;
import org.springframework.kafka.listener.DeadLetterPublishingRecoverer;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.support.serializer.SerializationUtils;
import org.springframework.stereotype.Component;

@SpringBootApplication
public class PaymentsApplication {

  public static void main(String[] args) {
    SpringApplication.run(PaymentsApplication.class, args);
  }

  /** Publishes the bytes of an invalid event to DEAD_LETTERS, without a retry. */
  @Bean
  @ConditionalOnProperty("SCHEMA")
  DefaultErrorHandler deadLetters(ProducerFactory<String, byte[]> producers, @Value("${DEAD_LETTERS}") String topic) {
    var kafka = new KafkaTemplate<>(
        producers, Map.of(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class));
    return new DefaultErrorHandler(
        new DeadLetterPublishingRecoverer(kafka, (event, error) -> new TopicPartition(topic, -1)));
  }

  @Component
  static class Payments {

    private static final LogAccessor LOG = new LogAccessor(Payments.class);
    private static final String INSERT = """
        INSERT INTO payment (order_id, payment_id, amount, status, created_at)
        VALUES (?, ?, ?, ?, ?) ON CONFLICT (order_id) DO NOTHING""";

    private final JdbcTemplate jdbc;
    private final KafkaTemplate<String, Envelope> kafka;
    private final String topic;

    Payments(JdbcTemplate jdbc, KafkaTemplate<String, Envelope> kafka, @Value("${TOPIC}") String topic) {
      this.jdbc = jdbc;
      this.kafka = kafka;
      this.topic = topic;
    }

    @KafkaListener(topics = "${INPUT}")
    void receive(List<ConsumerRecord<String, Envelope>> records) {
      var events = records.stream().map(ConsumerRecord::value).toList();
      var unreadable = events.indexOf(null);
      if (unreadable < 0) {
        pay(events);
        return;
      }
      // Spring commits the events before this one, and delivers the events after it again.
      pay(events.subList(0, unreadable));
      var cause = SerializationUtils.getExceptionFromHeader(
          records.get(unreadable), SerializationUtils.VALUE_DESERIALIZER_EXCEPTION_HEADER, LOG);
      throw new BatchListenerFailedException("the event is unreadable", cause, unreadable);
    }

    private void pay(List<Envelope> events) {
      var now = OffsetDateTime.now(ZoneOffset.UTC).truncatedTo(ChronoUnit.MILLIS);
      var announcements = events.stream()
          .filter(event -> event.name().equals("OrderCreated"))
          .map(event -> event.payment(now))
          .toList();
      jdbc.batchUpdate(INSERT, announcements.stream().map(Envelope::row).toList());
      var sent = announcements.stream()
          .map(announcement -> kafka.send(topic, announcement.payload().orderId().toString(), announcement))
          .toArray(CompletableFuture[]::new);
      CompletableFuture.allOf(sent).join();
    }
  }
}
