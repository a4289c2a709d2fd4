import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import tools.jackson.databind.json.JsonMapper;

/** Publishes an event to orderevents: java -jar target/publish.jar event.json */
public final class Publish {
    private static final JsonMapper JSON = JsonMapper.shared();

    public static void main(String[] args) throws Exception {
        System.exit(run(args));
    }

    private static int run(String[] args) throws Exception {
        if (args.length != 1) return fail("usage: java -jar target/publish.jar event.json");
        Envelope envelope;
        byte[] value;
        try {
            envelope = new Envelope(Path.of(setting("SCHEMAS", "../../../envelope-schema/schemas")));
            if (args[0].equals("--check")) return checkLines(envelope);
            value = Files.readAllBytes(Path.of(args[0]));
        } catch (IOException error) {
            return fail("cannot read " + error.getMessage());
        }
        var verdict = envelope.check(value, "received");
        if (!verdict.code().equals("ok")) {
            return fail("not published: " + verdict.code() + ", wrong at " + String.join(", ", verdict.pointers()));
        }
        try (var producer = new KafkaProducer<>(settings(), new StringSerializer(), new ByteArraySerializer())) {
            String key = JSON.readTree(value).at("/Payload/OrderId").stringValue();
            var sent = producer.send(new ProducerRecord<>("orderevents", key, value)).get();
            System.out.printf("published to %s, partition %d, offset %d%n", sent.topic(), sent.partition(), sent.offset());
            return 0;
        } catch (ExecutionException error) {
            return fail("not published: " + error.getCause().getMessage());
        } catch (KafkaException | IllegalArgumentException error) {
            return fail("not published: " + error.getMessage());
        }
    }

    private static Properties settings() {
        var settings = new Properties();
        settings.put("bootstrap.servers", setting("KAFKA_BROKERS", "localhost:9092"));
        settings.put("max.block.ms", "10000");
        settings.put("request.timeout.ms", "5000");
        settings.put("delivery.timeout.ms", "10000");
        String user = System.getenv("KAFKA_USER");
        if (user == null || user.isEmpty()) return settings;
        String password = required("KAFKA_PASSWORD").replace("\\", "\\\\").replace("\"", "\\\"");
        settings.put("security.protocol", "SASL_SSL");
        settings.put("sasl.mechanism", "SCRAM-SHA-512");
        settings.put("sasl.jaas.config", "org.apache.kafka.common.security.scram.ScramLoginModule required"
            + " username=\"" + user + "\" password=\"" + password + "\";");
        settings.put("ssl.truststore.type", "PEM");
        settings.put("ssl.truststore.location", required("KAFKA_CA"));
        return settings;
    }

    private static String required(String name) {
        String value = System.getenv(name);
        if (value == null || value.isEmpty()) throw new IllegalArgumentException(name + " is not set");
        return value;
    }

    private static String setting(String name, String fallback) {
        String value = System.getenv(name);
        return value == null || value.isEmpty() ? fallback : value;
    }

    private static int fail(String message) {
        System.err.println(message);
        return 1;
    }

    /** Reads lines {"check", "base64"} and writes a line {"code", "pointers"} for each. The conformance test uses this. */
    private static int checkLines(Envelope envelope) throws IOException {
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            var given = JSON.readTree(line);
            byte[] value = Base64.getDecoder().decode(given.get("base64").stringValue());
            var verdict = envelope.check(value, given.get("check").stringValue());
            out.println(JSON.writeValueAsString(Map.of("code", verdict.code(), "pointers", verdict.pointers())));
        }
        out.flush();
        return 0;
    }
}
