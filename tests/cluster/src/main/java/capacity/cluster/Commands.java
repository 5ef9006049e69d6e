package capacity.cluster;

import com.alibaba.fastjson2.JSON;
import com.alibaba.fastjson2.JSONObject;
import com.alibaba.fastjson2.JSONWriter;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/**
 * Commands as JSON objects on standard input, one a line; one answer a line on standard output: {"ok": result} or
 * {"error": text}. The JVM ends with its input, so that it never outlives who started it.
 */
public final class Commands {
    /** One command: its fields in, anything that JSON can say out. */
    public interface Command {
        Object run(JSONObject fields) throws Exception;
    }

    private final Map<String, Command> commands = new HashMap<>();
    private final PrintStream answers =
        new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.US_ASCII);

    /**
     * Takes standard output for the answers; whatever a library prints goes to standard error.
     *
     * <p>What fails in the thread that starts all ends the JVM. Other threads would keep it, and nobody would answer.
     */
    public Commands() {
        System.setOut(System.err);
        Thread.currentThread().setUncaughtExceptionHandler((thread, error) -> {
            error.printStackTrace();
            Runtime.getRuntime().halt(1);
        });
    }

    public Commands add(String name, Command command) {
        commands.put(name, command);
        return this;
    }

    /** Answers until the input ends, and ends the JVM then: an orderly end of a broker takes ten seconds and more. */
    public void serve() throws IOException {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            say(answer(JSON.parseObject(line)));
        }
        Runtime.getRuntime().halt(0);
    }

    public void say(JSONObject answer) {
        answers.println(JSON.toJSONString(answer,
            JSONWriter.Feature.EscapeNoneAscii, JSONWriter.Feature.WriteMapNullValue));
        answers.flush();
    }

    private JSONObject answer(JSONObject line) {
        String name = line.getString("command");
        Command command = commands.get(name);
        if (command == null) {
            return JSONObject.of("error", "unknown command " + name);
        }
        try {
            return JSONObject.of("ok", command.run(line));
        } catch (Exception e) {
            e.printStackTrace();
            return JSONObject.of("error", e.toString());
        }
    }
}
