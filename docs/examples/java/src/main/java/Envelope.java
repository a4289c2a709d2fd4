import com.networknt.schema.Schema;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Checks the rules of the envelope: JSON Schemas, and rules that not every validator of schemas can check (envelope-schema/fixtures/README.md). */
final class Envelope {
    /** The code of the first broken rule, or "ok", and the JSON pointers of all problems. */
    record Verdict(String code, List<String> pointers) {}

    private static final String BASE = "https://orderflow.example/schemas/";
    private static final int MAX_LEVELS = 64;
    private static final Pattern EVENT = Pattern.compile("events/(\\w+)\\.(\\d+)\\.json");
    private static final Pattern PLAIN_KEY = Pattern.compile("[A-Za-z0-9_]{1,64}");

    private static final JsonMapper JSON =
        JsonMapper.builder(
                JsonFactory.builder()
                    .streamReadConstraints(
                        StreamReadConstraints.builder().maxNumberLength(Integer.MAX_VALUE).maxNameLength(Integer.MAX_VALUE).build())
                    .build())
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private final Map<String, Schema> envelopes = new HashMap<>();
    private final Map<String, Map<Double, Schema>> payloads = new HashMap<>();

    /** Reads the folder envelope-schema/schemas. */
    Envelope(Path folder) throws IOException {
        Map<String, String> schemas = new HashMap<>();
        try (var files = Files.walk(folder)) {
            for (Path file : files.filter(each -> each.toString().endsWith(".json")).toList()) {
                schemas.put(BASE + folder.relativize(file).toString().replace('\\', '/'), Files.readString(file));
            }
        }
        var registry = SchemaRegistry.withDefaultDialect(
            SpecificationVersion.DRAFT_2020_12, builder -> builder.schemas(schemas));
        for (String variant : List.of("full", "received")) {
            envelopes.put(variant, registry.getSchema(SchemaLocation.of(BASE + "envelope." + variant + ".json")));
        }
        for (String id : schemas.keySet()) {
            var event = EVENT.matcher(id.substring(BASE.length()));
            if (!event.matches()) continue;
            payloads.computeIfAbsent(event.group(1), name -> new HashMap<>())
                .put(Double.valueOf(event.group(2)), registry.getSchema(SchemaLocation.of(id)));
        }
    }

    Verdict check(byte[] value, String variant) {
        String text;
        try {
            text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(value)).toString();
        } catch (CharacterCodingException error) {
            return new Verdict("not-utf8", List.of(""));
        }
        if (text.startsWith("\ufeff")) text = text.substring(1);
        if (levels(text) > MAX_LEVELS) return new Verdict("not-an-envelope", List.of(""));
        JsonNode document;
        try {
            document = JSON.readTree(withoutLoneSurrogates(text));
        } catch (JacksonException error) {
            return new Verdict("not-json", List.of(""));
        }
        if (document.isMissingNode()) return new Verdict("not-json", List.of(""));
        var wrong = new TreeSet<String>();
        beyondLimits(List.of(), document, wrong);
        document = withDoubles(document);
        if (document.has("specversion") && !document.has("Payload")) {
            wrong.add(""); // a CloudEvent around an envelope
        } else if (document.size() == 2 && document.has("schema") && document.has("payload")) {
            wrong.add(""); // a record of Kafka Connect around an envelope
        } else {
            problems(envelopes.get(variant), document, "", wrong);
        }
        String code = wrong.isEmpty() ? "ok" : "not-an-envelope";
        if (document.isObject()) {
            String inPayload = checkPayload(document, wrong);
            if (code.equals("ok")) code = inPayload;
        }
        return new Verdict(code, List.copyOf(wrong));
    }

    private String checkPayload(JsonNode document, TreeSet<String> wrong) {
        if (!document.path("Name").isString()) return "ok";
        var versions = payloads.get(document.get("Name").stringValue());
        if (versions == null) {
            wrong.add("/Name");
            return "unknown-event";
        }
        JsonNode version = document.path("Version");
        Schema schema = version.isNumber() ? versions.get(version.doubleValue()) : null;
        if (schema == null) {
            wrong.add("/Version");
            return "unknown-version";
        }
        JsonNode payload = document.has("Payload") ? document.get("Payload") : JSON.nullNode();
        return problems(schema, payload, "/Payload", wrong) ? "invalid-payload" : "ok";
    }

    private static boolean problems(Schema schema, JsonNode node, String base, TreeSet<String> wrong) {
        var errors = schema.validate(node, context -> context.executionConfig(config -> config.formatAssertionsEnabled(true)));
        for (var error : errors) {
            var pointer = new StringBuilder(base);
            var path = error.getInstanceLocation();
            for (int index = 0; index < path.getNameCount(); index++) pointer.append('/').append(path.getName(index));
            if (error.getKeyword().equals("required")) pointer.append('/').append(error.getProperty());
            wrong.add(pointer.toString());
        }
        return !errors.isEmpty();
    }

    private static final Pattern ESCAPE = Pattern.compile(
        "\\\\(?:u[dD][89abAB]\\p{XDigit}{2}\\\\u[dD][c-fC-F]\\p{XDigit}{2}|(u[dD][89a-fA-F]\\p{XDigit}{2})|.)");

    /** Replaces lone surrogates, which Jackson rejects in keys, by U+0000. Later, beyondLimits refuses U+0000. */
    private static String withoutLoneSurrogates(String text) {
        return ESCAPE.matcher(text)
            .replaceAll(found -> found.group(1) == null ? Matcher.quoteReplacement(found.group()) : "\\\\u0000");
    }

    /** The largest number that the schema library gets, because the library throws an exception for integers beyond a long. All limits in the schemas are smaller. */
    private static final double LARGE = 1e18;

    /** Returns numbers as every receiver reads them: as 64-bit doubles. */
    private static JsonNode withDoubles(JsonNode node) {
        var nodes = JSON.getNodeFactory();
        if (node.isNumber()) {
            double value = node.numberValue().doubleValue();
            return nodes.numberNode(Math.max(-LARGE, Math.min(value, LARGE)));
        }
        if (node instanceof ObjectNode object) {
            ObjectNode copy = nodes.objectNode();
            object.properties().forEach(field -> copy.set(field.getKey(), withDoubles(field.getValue())));
            return copy;
        }
        if (node instanceof ArrayNode list) {
            ArrayNode copy = nodes.arrayNode();
            list.forEach(item -> copy.add(withDoubles(item)));
            return copy;
        }
        return node;
    }

    /** Returns the depth of nested objects and lists. Uses no parser, because parsers have other limits for the depth. */
    private static int levels(String text) {
        int deepest = 0;
        int level = 0;
        boolean inText = false;
        for (int at = 0; at < text.length(); at++) {
            char character = text.charAt(at);
            if (inText && character == '\\') at++;
            else if (character == '"') inText = !inText;
            else if (inText) continue;
            else if (character == '[' || character == '{') deepest = Math.max(deepest, ++level);
            else if (character == ']' || character == '}') level--;
        }
        return deepest;
    }

    /** Adds the pointers of numbers too large for a double, and of texts and keys with U+0000 or a lone surrogate. */
    private static void beyondLimits(List<String> path, JsonNode node, TreeSet<String> wrong) {
        boolean isTooLarge = node.isNumber() && Double.isInfinite(node.numberValue().doubleValue());
        if (isTooLarge || (node.isString() && isNotPortable(node.stringValue()))) wrong.add(pointerOf(path));
        if (node.isArray()) {
            for (int index = 0; index < node.size(); index++) {
                beyondLimits(with(path, String.valueOf(index)), node.get(index), wrong);
            }
        }
        for (var field : node.properties()) {
            if (isNotPortable(field.getKey())) wrong.add(pointerOf(path));
            beyondLimits(with(path, field.getKey()), field.getValue(), wrong);
        }
    }

    private static boolean isNotPortable(String text) {
        return text.codePoints().anyMatch(point -> point == 0 || (point >= 0xd800 && point <= 0xdfff));
    }

    private static List<String> with(List<String> path, String key) {
        var longer = new ArrayList<>(path);
        longer.add(key);
        return longer;
    }

    /** Returns a pointer with at most two parts. The pointer ends before a key that cannot be a field name. */
    private static String pointerOf(List<String> path) {
        var pointer = new StringBuilder();
        for (String key : path.subList(0, Math.min(2, path.size()))) {
            if (!PLAIN_KEY.matcher(key).matches()) break;
            pointer.append('/').append(key);
        }
        return pointer.toString();
    }
}
