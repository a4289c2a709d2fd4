package payments;

import io.agroal.api.AgroalDataSource;
import io.smallrye.mutiny.Uni;
import io.smallrye.reactive.messaging.MutinyEmitter;
import io.smallrye.reactive.messaging.annotations.Blocking;
import io.smallrye.reactive.messaging.kafka.Record;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.List;
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

  // Only a whole batch can wait, because `pay` returns after its announcements were published.
  @Channel("payments")
  @OnOverflow(OnOverflow.Strategy.UNBOUNDED_BUFFER)
  MutinyEmitter<Record<String, Envelope>> kafka;

  @Incoming("orders")
  @Blocking
  void pay(List<Envelope> events) throws SQLException {
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
