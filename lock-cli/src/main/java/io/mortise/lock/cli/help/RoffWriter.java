// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.help;

import java.util.Locale;

/** Writes a manual page in the macros of man(7). Texts are taken as they are. */
final class RoffWriter {
    private final StringBuilder page = new StringBuilder();

    RoffWriter(String name, String product, String manual) {
        macro("TH", name.toUpperCase(Locale.ROOT), "1", "", product, manual);
        page.append(".nh\n.ad l\n"); // no words broken, no gaps: names and options are copied from here
    }

    RoffWriter section(String title) {
        return macro("SH", title);
    }

    RoffWriter subsection(String title) {
        return macro("SS", title);
    }

    RoffWriter paragraph(String text) {
        macro("PP");
        return line(text(text));
    }

    /** A term, and below it what it means. */
    RoffWriter item(String term, Iterable<String> meaning) {
        macro("TP");
        line("\\fB" + text(term) + "\\fR");
        boolean first = true;
        for (String each : meaning) {
            if (!first) {
                macro("br");
            }
            line(text(each));
            first = false;
        }
        return first ? line("\\&") : this;
    }

    /** Lines that stay as they are. */
    RoffWriter verbatim(Iterable<String> lines) {
        macro("PP");
        macro("RS", "2");
        macro("nf");
        lines.forEach(each -> line(text(each)));
        macro("fi");
        return macro("RE");
    }

    private RoffWriter macro(String name, String... arguments) {
        page.append('.').append(name);
        for (String argument : arguments) {
            page.append(" \"").append(text(argument).replace("\"", "\\(dq")).append('"');
        }
        page.append('\n');
        return this;
    }

    private RoffWriter line(String text) {
        // At its beginning, a dot or an apostrophe would be a macro.
        page.append(text.startsWith(".") || text.startsWith("'") ? "\\&" : "")
                .append(text)
                .append('\n');
        return this;
    }

    private static String text(String raw) {
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
