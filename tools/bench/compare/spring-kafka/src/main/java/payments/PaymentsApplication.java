package payments;

import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.stereotype.Component;

@SpringBootApplication
public class PaymentsApplication {

  public static void main(String[] args) {
    SpringApplication.run(PaymentsApplication.class, args);
  }

  @Component
  static class Payments {

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

    @KafkaListener(topics = "orderevents")
    void pay(List<Envelope> events) {
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
