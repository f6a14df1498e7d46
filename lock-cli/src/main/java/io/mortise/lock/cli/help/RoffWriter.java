// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.help;

import java.util.Locale;

/** Writes a manual page with the roff macros of man(7). All text is escaped, so that none of it is taken for markup. */
final class RoffWriter {
    private final StringBuilder page = new StringBuilder();

    RoffWriter(String name, String product, String manual) {
        macro("TH", name.toUpperCase(Locale.ROOT), "1", "", product, manual);
        page.append(
                ".nh\n.ad l\n"); // no hyphenation and no justification, as users copy names and options from the page
    }

    RoffWriter section(String title) {
        return macro("SH", title);
    }

    RoffWriter subsection(String title) {
        return macro("SS", title);
    }

    RoffWriter paragraph(String text) {
        macro("PP");
        return line(escape(text));
    }

    /** Writes a term, and its meaning as an indented paragraph below it. */
    RoffWriter item(String term, Iterable<String> meaning) {
        macro("TP");
        line("\\fB" + escape(term) + "\\fR");
        boolean first = true;
        for (String each : meaning) {
            if (!first) {
                macro("br");
            }
            line(escape(each));
            first = false;
        }
        return first ? line("\\&") : this;
    }

    /** Writes lines without filling or joining them. */
    RoffWriter verbatim(Iterable<String> lines) {
        macro("PP");
        macro("RS", "2");
        macro("nf");
        lines.forEach(each -> line(escape(each)));
        macro("fi");
        return macro("RE");
    }

    private RoffWriter macro(String name, String... arguments) {
        page.append('.').append(name);
        for (String argument : arguments) {
            page.append(" \"").append(escape(argument).replace("\"", "\\(dq")).append('"');
        }
        page.append('\n');
        return this;
    }

    private RoffWriter line(String text) {
        // A dot or an apostrophe at the beginning of a line would start a macro.
        page.append(text.startsWith(".") || text.startsWith("'") ? "\\&" : "")
                .append(text)
                .append('\n');
        return this;
    }

    private static String escape(String raw) {
        return raw.strip().isEmpty()
                ? "\\&"
                : raw.replace("\\", "\\(rs")
                        .replace("-", "\\-")
                        .replace("'", "\\(aq")
                        .replace("^", "\\(ha")
                        .replace("~", "\\(ti")
                        .replace("`", "\\(ga");
    }

    @Override
    public String toString() {
        return page.toString();
    }
}
