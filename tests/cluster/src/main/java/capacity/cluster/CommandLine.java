package capacity.cluster;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.rocketmq.common.MixAll;
import org.apache.rocketmq.tools.command.MQAdminStartup;

/**
 * The official command line tool: its own main, called in this JVM. A JVM of its own for each command line takes two
 * seconds of a processor, and tests ask again and again until something is so.
 *
 * <p>Words that it cannot read end the JVM, as they end the tool.
 */
final class CommandLine {
    private CommandLine() {
    }

    /** Runs one command line; everything that the tool prints. */
    static String run(List<String> words) {
        PrintStream out = System.out;
        PrintStream err = System.err;
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        Thread caller = Thread.currentThread();
        // What the threads of brokers print meanwhile is none of the tool's.
        PrintStream both = new PrintStream(new OutputStream() {
            @Override
            public void write(int character) {
                if (Thread.currentThread() == caller) {
                    said.write(character);
                } else {
                    err.write(character);
                }
            }
        }, true, StandardCharsets.UTF_8);
        // The tool stores the name server of -n here, where the next command line would find it.
        System.clearProperty(MixAll.NAMESRV_ADDR_PROPERTY);
        System.setOut(both);
        System.setErr(both);
        try {
            MQAdminStartup.main0(words.toArray(new String[0]), null);
        } finally {
            System.setOut(out);
            System.setErr(err);
            System.clearProperty(MixAll.NAMESRV_ADDR_PROPERTY);
        }
        return said.toString(StandardCharsets.UTF_8);
    }
}
