package capacity.mqadmin;

import com.alibaba.fastjson2.JSON;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.commons.cli.CommandLine;
import org.apache.commons.cli.DefaultParser;
import org.apache.commons.cli.Option;
import org.apache.commons.cli.Options;
import org.apache.commons.cli.ParseException;
import org.apache.rocketmq.srvutil.ServerUtil;
import org.apache.rocketmq.tools.command.MQAdminStartup;
import org.apache.rocketmq.tools.command.SubCommand;

/**
 * Reads command lines as mqadmin does, and runs none of them: one JSON array of words a line on standard input, one JSON
 * object a line on standard output, either the value of each option or {@code error}.
 */
public final class CommandLines {
    private CommandLines() {
    }

    public static void main(String[] args) throws Exception {
        MQAdminStartup.initCommand();
        Method find = MQAdminStartup.class.getDeclaredMethod("findSubCommand", String.class);
        find.setAccessible(true);
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            List<String> words = JSON.parseArray(line, String.class);
            SubCommand command = (SubCommand) find.invoke(null, words.get(0));
            out.println(JSON.toJSONString(command == null ? Map.of("error", "no subcommand") : read(command, words)));
        }
    }

    private static Map<String, String> read(SubCommand command, List<String> words) {
        Options options = command.buildCommandlineOptions(ServerUtil.buildCommandlineOptions(new Options()));
        String[] args = words.subList(1, words.size()).toArray(new String[0]);
        try {
            CommandLine parsed = new DefaultParser().parse(options, args);
            if (!parsed.getArgList().isEmpty()) {
                return Map.of("error", "left over: " + parsed.getArgList());
            }
            Map<String, String> values = new TreeMap<>();
            Arrays.stream(parsed.getOptions()).forEach((Option each) -> values.put("-" + each.getOpt(),
                each.hasArg() ? each.getValue() : ""));
            return values;
        } catch (ParseException error) {
            return Map.of("error", error.toString());
        }
    }
}
