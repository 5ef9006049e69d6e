package capacity.acl1;

import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.apache.rocketmq.broker.BrokerController;
import org.apache.rocketmq.broker.BrokerStartup;

/** One broker, of the properties file that is its argument; each line of its input makes it register again. */
public final class BrokerMain {
    private BrokerMain() {
    }

    public static void main(String[] args) throws Exception {
        PrintStream answers = new PrintStream(new FileOutputStream(FileDescriptor.out), true);
        System.setOut(System.err);
        BrokerController controller = BrokerStartup.createBrokerController(new String[] {"-c", args[0]});
        controller.start();
        answers.println("{\"ok\":\"started\"}");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        while (lines.readLine() != null) {
            controller.registerBrokerAll(true, false, true);
            answers.println("{\"ok\":1}");
        }
        Runtime.getRuntime().halt(0);
    }
}
