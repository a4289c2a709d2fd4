package payments;

import io.agroal.api.AgroalDataSource;
import io.smallrye.mutiny.Uni;
import io.smallrye.reactive.messaging.MutinyEmitter;
import io.smallrye.reactive.messaging.annotations.Blocking;
import io.smallrye.reactive.messaging.kafka.KafkaRecord;
import io.smallrye.reactive.messaging.kafka.KafkaRecordBatch;
import io.smallrye.reactive.messaging.kafka.Record;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.eclipse.microprofile.reactive.messaging.Channel;
import org.eclipse.microprofile.reactive.messaging.Incoming;
import org.eclipse.microprofile.reactive.messaging.OnOverflow;

@ApplicationScoped
public class Payments {

  private static final String INSERT = """
      INSERT INTO payment (order_id, payment_id, amount, status, created_at)
      VALUES (?, ?, ?, ?, ?) ON CONFLICT (order_id) DO NOTHING""";

  @Inject
  AgroalDataSource database;

  // The buffer stays small, because `pay` returns after the announcements of its batch were published.
  @Channel("payments")
  @OnOverflow(OnOverflow.Strategy.UNBOUNDED_BUFFER)
  MutinyEmitter<Record<String, Envelope>> kafka;

  @Incoming("orders")
  @Blocking
  CompletionStage<Void> receive(KafkaRecordBatch<String, Envelope> batch) throws SQLException {
    var records = batch.getRecords();
    pay(records.stream().map(KafkaRecord::getPayload).filter(Objects::nonNull).toList());
    // In a batch, SmallRye publishes a dead letter only for a record that is rejected alone.
    var deadLetters = records.stream()
        .filter(event -> event.getPayload() == null)
        .map(event -> event.nack(new IllegalArgumentException("the event is unreadable")).toCompletableFuture())
        .toArray(CompletableFuture[]::new);
    return CompletableFuture.allOf(deadLetters).thenCompose(done -> batch.ack());
  }

  private void pay(List<Envelope> events) throws SQLException {
    var now = OffsetDateTime.now(ZoneOffset.UTC).truncatedTo(ChronoUnit.MILLIS);
    var announcements = events.stream()
        .filter(event -> event.name().equals("OrderCreated"))
        .map(event -> event.payment(now))
        .toList();
    if (announcements.isEmpty()) {
      return;
    }
    save(announcements);
    var sent = announcements.stream()
        .map(announcement -> kafka.send(Record.of(announcement.payload().orderId().toString(), announcement)))
        .toList();
    Uni.join().all(sent).andFailFast().await().indefinitely();
  }

  private void save(List<Envelope> announcements) throws SQLException {
    try (var connection = database.getConnection(); var insert = connection.prepareStatement(INSERT)) {
      for (var announcement : announcements) {
        var row = announcement.row();
        for (var column = 0; column < row.length; column++) {
          insert.setObject(column + 1, row[column]);
        }
        insert.addBatch();
      }
      insert.executeBatch();
    }
  }
}
