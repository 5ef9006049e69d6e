package capacity.sending;

/** Starts {@link Driver} with the classes of {@link ClockLoader}. */
public final class Sending {
    private Sending() {
    }

    public static void main(String[] args) throws ReflectiveOperationException {
        ClassLoader loader = new ClockLoader(Sending.class.getClassLoader());
        Thread.currentThread().setContextClassLoader(loader);
        loader.loadClass("capacity.sending.Driver").getMethod("main", String[].class).invoke(null, (Object) args);
    }
}
