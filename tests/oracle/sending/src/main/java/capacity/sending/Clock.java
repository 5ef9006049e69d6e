package capacity.sending;

/** What the official classes read instead of System's clock: it moves only where a scenario says so. */
public final class Clock {
    /** Any time that a real clock could show. */
    public static final long START = 1_700_000_000_000L;
    private static long now = START;

    private Clock() {
    }

    public static void set(long sinceStart) {
        now = START + sinceStart;
    }

    public static void advance(long millis) {
        now += millis;
    }

    public static long sinceStart() {
        return now - START;
    }

    public static long currentTimeMillis() {
        return now;
    }

    public static String getProperty(String name, String otherwise) {
        return System.getProperty(name, otherwise);
    }

    public static String setProperty(String name, String value) {
        return System.setProperty(name, value);
    }
}
