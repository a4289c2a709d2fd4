package payments;

import com.networknt.schema.InputFormat;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.header.Headers;
import org.springframework.kafka.support.serializer.JacksonJsonDeserializer;
import tools.jackson.databind.JsonNode;

/** Validates each OrderCreated event if SCHEMA is set. */
public class EnvelopeDeserializer extends JacksonJsonDeserializer<Envelope> {

  private final Schema schema = read(System.getenv("SCHEMA"));

  public EnvelopeDeserializer() {
    super(Envelope.class, false);
  }

  @Override
  public Envelope deserialize(String topic, Headers headers, byte[] data) {
    if (schema == null) {
      return super.deserialize(topic, headers, data);
    }
    var event = jsonMapper.readTree(data);
    if (!hasOtherName(event)) {
      var errors = schema.validate(event, context -> context.executionConfig(config -> config.formatAssertionsEnabled(true)));
      if (!errors.isEmpty()) {
        throw new SerializationException(errors.toString());
      }
    }
    return jsonMapper.treeToValue(event, Envelope.class);
  }

  private static boolean hasOtherName(JsonNode event) {
    var name = event.path("Name");
    return name.isString() && !name.asString().equals("OrderCreated");
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
