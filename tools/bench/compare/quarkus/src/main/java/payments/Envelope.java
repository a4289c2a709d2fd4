package payments;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.math.BigDecimal;
import java.time.OffsetDateTime;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import com.fasterxml.jackson.databind.PropertyNamingStrategies.UpperCamelCaseStrategy;
import com.fasterxml.jackson.databind.annotation.JsonNaming;

/** An event: a received OrderCreated, or a published PaymentApproved or PaymentRejected. */
@JsonNaming(UpperCamelCaseStrategy.class)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Envelope(
    Map<String, Object> headers,
    UUID id,
    UUID correlationId,
    UUID traceId,
    UUID appId,
    String appName,
    int version,
    String name,
    OffsetDateTime creationDate,
    Payload payload) {

  private static final UUID APP_ID = UUID.fromString("5d1c5a0e-0a53-4b7e-a4d5-6c55f1c8e015");
  private static final BigDecimal APPROVE_UP_TO = new BigDecimal(10_000);

  @JsonNaming(UpperCamelCaseStrategy.class)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Payload(
      UUID orderId, BigDecimal total, UUID paymentId, BigDecimal amount, String policy, String source, String reason) {
  }

  /** Returns the announcement of this order’s payment. */
  Envelope payment(OffsetDateTime at) {
    var paymentId = idOf("payment", payload.orderId());
    var approved = payload.total().compareTo(APPROVE_UP_TO) <= 0;
    var name = approved ? "PaymentApproved" : "PaymentRejected";
    return new Envelope(
        id == null ? Map.of() : Map.of("CausationId", id),
        idOf(name, paymentId),
        Objects.requireNonNullElse(correlationId, paymentId),
        Objects.requireNonNullElse(traceId, paymentId),
        APP_ID,
        "quarkus-payments",
        1,
        name,
        at,
        new Payload(payload.orderId(), null, paymentId, payload.total(), "amount-limit@1", "OrderCreated",
            approved ? null : "the amount is above the limit of " + APPROVE_UP_TO));
  }

  /** Returns the row for the table of payments. */
  Object[] row() {
    var status = name.substring("Payment".length());
    return new Object[] {payload.orderId(), payload.paymentId(), payload.amount(), status, creationDate};
  }

  private static UUID idOf(String what, UUID whose) {
    return UUID.nameUUIDFromBytes((what + whose).getBytes(UTF_8));
  }
}
