// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import tools.jackson.jr.ob.JSON;

/** One command line, run in this process, and what it said. */
public record CommandLineRun(int code, String out, String err) {
    public static CommandLineRun of(String... args) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int code = LockCtl.run(new PrintWriter(out), new PrintWriter(err), args);
        return new CommandLineRun(code, out.toString(), err.toString());
    }

    /** For one that ends late: what it has said so far is in the writers. Returns its exit code. */
    public static int into(Writer out, Writer err, String... args) {
        return LockCtl.run(new PrintWriter(out, true), new PrintWriter(err, true), args);
    }

    /** Of {@code --json}. */
    public Map<String, Object> json() {
        return JSON.std.mapFrom(out);
    }

    /** What {@code --json} has there: names in objects, indexes in lists. */
    public Object at(Object... path) {
        Object found = json();
        for (Object step : path) {
            Object next = step instanceof Integer index ? ((List<?>) found).get(index) : ((Map<?, ?>) found).get(step);
            found = Objects.requireNonNull(next, () -> "no " + step + " in " + out);
        }
        return found;
    }

    /** A number of {@code --json}. */
    public long number(Object... path) {
        return ((Number) at(path)).longValue();
    }

    /** What it printed, line by line. */
    public List<String> lines() {
        return out.lines().toList();
    }
}
