package payments;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.networknt.schema.InputFormat;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import io.quarkus.arc.Arc;
import io.quarkus.kafka.client.serialization.ObjectMapperDeserializer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.kafka.common.errors.SerializationException;

/** Validates each OrderCreated event if SCHEMA is set. */
public class EnvelopeDeserializer extends ObjectMapperDeserializer<Envelope> {

  private final ObjectMapper json = Arc.container().instance(ObjectMapper.class).get();
  private final Schema schema = read(System.getenv("SCHEMA"));

  public EnvelopeDeserializer() {
    super(Envelope.class);
  }

  @Override
  public Envelope deserialize(String topic, byte[] data) {
    if (schema == null) {
      return super.deserialize(topic, data);
    }
    try {
      var event = json.readTree(data);
      if (!hasOtherName(event)) {
        var errors = schema.validate(event, context -> context.executionConfig(config -> config.formatAssertionsEnabled(true)));
        if (!errors.isEmpty()) {
          throw new SerializationException(errors.toString());
        }
      }
      return json.treeToValue(event, Envelope.class);
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  private static boolean hasOtherName(JsonNode event) {
    var name = event.path("Name");
    return name.isTextual() && !name.asText().equals("OrderCreated");
  }

  private static Schema read(String file) {
    if (file == null) {
      return null;
    }
    try {
      return SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
          .getSchema(Files.readString(Path.of(file)), InputFormat.JSON);
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }
}
