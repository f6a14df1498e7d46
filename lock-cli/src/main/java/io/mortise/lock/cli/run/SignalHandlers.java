// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;

/** Access to {@code sun.misc.Signal} by reflection. A signal that was ignored when the JVM started stays so, as after nohup. */
final class SignalHandlers {
    static final String HANGUP = "HUP";
    static final String INTERRUPT = "INT";
    static final String TERMINATE = "TERM";

    private static final Duration DEAD_BY_NOW = Duration.ofMillis(500);

    private SignalHandlers() {}

    /** The number that this system gives it. */
    static int number(String name) {
        try {
            return (int) type().getMethod("getNumber").invoke(signal(name));
        } catch (ReflectiveOperationException e) {
            throw unsupported(name, e);
        }
    }

    /**
     * From now on each such signal runs the handler, on a thread of its own.
     *
     * @return false if it was ignored when the JVM started, and still is
     */
    static boolean handle(String name, IntConsumer handler) {
        try {
            Class<?> handlerType = Class.forName("sun.misc.SignalHandler");
            Object proxy = Proxy.newProxyInstance(
                    SignalHandlers.class.getClassLoader(), new Class<?>[] {handlerType}, (self, method, args) -> {
                        switch (method.getName()) {
                            case "handle" -> handler.accept(number(name));
                            case "equals" -> {
                                return self == args[0];
                            }
                            case "hashCode" -> {
                                return System.identityHashCode(self);
                            }
                            default -> {
                                return name;
                            }
                        }
                        return null;
                    });
            return install(name, proxy) != ignoring();
        } catch (ReflectiveOperationException e) {
            throw unsupported(name, e);
        }
    }

    /** From now on it does what it does to a program that does not care. */
    static void handleByDefault(String name) {
        constant(name, "SIG_DFL");
    }

    /** From now on nothing happens. */
    static void ignore(String name) {
        constant(name, "SIG_IGN");
    }

    /** Ends this JVM as that signal does by default; returns if it is ignored, or nothing can send it. */
    static void dieOf(String name) {
        handleByDefault(name);
        try {
            Libc.kill(Libc.getpid(), number(name)); // the JVM's own way refuses signals that it does not handle
            LockSupport.parkNanos(DEAD_BY_NOW.toNanos());
        } catch (LinkageError e) {
            // The exit code has to say it then.
        }
    }

    private static void constant(String name, String field) {
        try {
            install(
                    name,
                    Class.forName("sun.misc.SignalHandler").getField(field).get(null));
        } catch (ReflectiveOperationException e) {
            throw unsupported(name, e);
        }
    }

    private static Object ignoring() throws ReflectiveOperationException {
        return Class.forName("sun.misc.SignalHandler").getField("SIG_IGN").get(null);
    }

    /** Returns what was there before. */
    private static Object install(String name, Object handler) throws ReflectiveOperationException {
        return type().getMethod("handle", type(), Class.forName("sun.misc.SignalHandler"))
                .invoke(null, signal(name), handler);
    }

    private static Object signal(String name) throws ReflectiveOperationException {
        return type().getConstructor(String.class).newInstance(name);
    }

    private static Class<?> type() throws ClassNotFoundException {
        return Class.forName("sun.misc.Signal");
    }

    private static RuntimeException unsupported(String name, ReflectiveOperationException e) {
        Throwable cause = e instanceof InvocationTargetException && e.getCause() != null ? e.getCause() : e;
        return new UnsupportedOperationException("signal " + name + ": " + cause, cause);
    }
}
