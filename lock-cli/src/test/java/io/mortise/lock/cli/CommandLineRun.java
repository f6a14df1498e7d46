// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import tools.jackson.jr.ob.JSON;

/** The result of a command line that was run in this process: exit code, standard output and standard error. */
public record CommandLineRun(int code, String out, String err) {
    public static CommandLineRun of(String... args) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int code = LockCtl.run(new PrintWriter(out), new PrintWriter(err), args);
        return new CommandLineRun(code, out.toString(), err.toString());
    }

    /** Runs a command line that ends later, and whose output so far can be read from the writers; returns its exit code. */
    public static int into(Writer out, Writer err, String... args) {
        return LockCtl.run(new PrintWriter(out, true), new PrintWriter(err, true), args);
    }

    /** Returns the object that {@code --json} has printed. */
    public Map<String, Object> json() {
        return JSON.std.mapFrom(out);
    }

    /**
     * Returns a value of the object that {@code --json} has printed.
     *
     * @param path names in objects, indexes in lists
     */
    public Object at(Object... path) {
        Object found = json();
        for (Object step : path) {
            Object next = step instanceof Integer index ? ((List<?>) found).get(index) : ((Map<?, ?>) found).get(step);
            found = Objects.requireNonNull(next, () -> "no " + step + " in " + out);
        }
        return found;
    }

    /** Returns a number of the object that {@code --json} has printed. */
    public long number(Object... path) {
        return ((Number) at(path)).longValue();
    }

    /** Returns the lines of standard output. */
    public List<String> lines() {
        return out.lines().toList();
    }
}
