// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;

/**
 * Installs signal handlers through {@code sun.misc.Signal}, by reflection. A signal that was ignored when the JVM started, as
 * HUP after nohup, stays ignored.
 */
final class SignalHandlerInstaller {
    static final String HANGUP = "HUP";
    static final String INTERRUPT = "INT";
    static final String TERMINATE = "TERM";

    private static final Duration DEATH_TIMEOUT = Duration.ofMillis(500);

    private SignalHandlerInstaller() {}

    /** Returns the number of the signal on this system. */
    static int number(String name) {
        try {
            return (int) type().getMethod("getNumber").invoke(signal(name));
        } catch (ReflectiveOperationException e) {
            throw unsupported(name, e);
        }
    }

    /**
     * Installs a handler for the signal, which is called on a new thread for each signal.
     *
     * @return false if the signal was ignored when the JVM started, and still is
     */
    static boolean handle(String name, IntConsumer handler) {
        try {
            Class<?> handlerType = Class.forName("sun.misc.SignalHandler");
            Object proxy = Proxy.newProxyInstance(
                    SignalHandlerInstaller.class.getClassLoader(),
                    new Class<?>[] {handlerType},
                    (self, method, args) -> {
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

    /** Restores the default action of the signal. */
    static void handleByDefault(String name) {
        constant(name, "SIG_DFL");
    }

    /** Ignores the signal from now on. */
    static void ignore(String name) {
        constant(name, "SIG_IGN");
    }

    /** Ends this JVM with the default action of the signal; returns if the signal is ignored or cannot be sent. */
    static void dieFrom(String name) {
        handleByDefault(name);
        try {
            Libc.kill(Libc.getpid(), number(name)); // Signal.raise refuses signals without a handler
            LockSupport.parkNanos(DEATH_TIMEOUT.toNanos());
        } catch (LinkageError e) {
            // The exit code has to tell the caller instead.
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

    /** Installs a handler and returns the previous one. */
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
