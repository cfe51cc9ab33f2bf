package tidewater.peer;

import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;

import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Answers one request a line until standard input ends, so that one virtual machine serves a whole test run.
 *
 * <pre>
 *  {"verb":"read","warehouse":W,"table":"db.t",...}  ->  {"ok":true,"lines":[...]}
 *                                                        {"ok":false,"error":CLASS,"message":TEXT}
 * </pre>
 *
 * The lines inside an answer, and those a "write" request carries, are those of tidewater's command line.
 */
public final class Peer {

    static final ObjectMapper JSON = new ObjectMapper();

    private Peer() {}

    public static void main(String[] args) throws Exception {
        PrintStream answers = new PrintStream(new FileOutputStream(FileDescriptor.out), false, "UTF-8");
        System.setOut(System.err); // whatever a library prints must not land between the answers
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            if (!line.isBlank()) {
                answers.println(answer(line));
                answers.flush();
            }
        }
        Runtime.getRuntime().halt(0); // Paimon's pools hold threads that would keep the process alive
    }

    private static ObjectNode answer(String line) {
        ObjectNode answer = JSON.createObjectNode();
        try {
            JsonNode request = JSON.readTree(line);
            List<JsonNode> lines = new ArrayList<>();
            serve(request, lines);
            answer.put("ok", true);
            ArrayNode array = answer.putArray("lines");
            lines.forEach(array::add);
        } catch (Throwable failure) {
            StringBuilder message = new StringBuilder();
            for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
                message.append(message.length() == 0 ? "" : " <- ").append(cause);
            }
            answer.put("ok", false);
            answer.put("error", failure.getClass().getSimpleName());
            answer.put("message", message.toString());
        }
        return answer;
    }

    private static void serve(JsonNode request, List<JsonNode> lines) throws Exception {
        String verb = request.get("verb").asText();
        if (verb.equals("version")) {
            lines.add(JSON.createObjectNode().put("engine", "java-paimon").put("version", "1.3.1"));
            return;
        }
        try (Session session = new Session(request, lines)) {
            switch (verb) {
                case "create":
                    session.create();
                    break;
                case "write":
                    new TableWriting(session).run();
                    break;
                case "compact":
                    new TableWriting(session).compactOnly();
                    break;
                case "read":
                    new TableReading(session).batch();
                    break;
                case "stream":
                    new TableReading(session).stream();
                    break;
                case "verify":
                    new TableChecking(session).run();
                    break;
                default:
                    throw new IllegalArgumentException("no verb " + verb);
            }
        }
    }
}
