package capacity.cluster;

import java.io.FileWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.rocketmq.common.message.MessageExt;

/** What a consumer has consumed, in a file that outlives a kill: a line a message. Without a file nothing is recorded. */
final class Recorder {
    private final Writer writer;

    Recorder(String file) throws IOException {
        writer = file == null ? Writer.nullWriter() : new FileWriter(file, StandardCharsets.UTF_8, true);
    }

    synchronized void add(List<MessageExt> messages) {
        try {
            for (MessageExt message : messages) {
                writer.write(System.currentTimeMillis() + " " + message.getTopic() + " " + message.getBrokerName()
                    + " " + message.getQueueId() + " " + message.getQueueOffset() + " " + message.getStoreTimestamp()
                    + "\n");
            }
            writer.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
