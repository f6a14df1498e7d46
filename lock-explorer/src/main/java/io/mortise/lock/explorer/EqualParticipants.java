// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.explorer;

import java.util.List;

/** Makes keys of worlds independent of which of several equal participants is which. */
public final class EqualParticipants {
    private EqualParticipants() {}

    /**
     * Returns a number for each participant that depends on what it does, and not on which of several equal ones it is.
     *
     * @param views what makes each participant differ from the others, without its name
     */
    public static int[] labels(List<String> views) {
        int[] labels = new int[views.size()];
        for (int i = 0; i < labels.length; i++) {
            for (int j = 0; j < labels.length; j++) {
                int order = views.get(j).compareTo(views.get(i));
                labels[i] += order < 0 || (order == 0 && j < i) ? 1 : 0;
            }
        }
        return labels;
    }

    /**
     * Replaces the participants' names by their labels.
     *
     * @param start the beginning of each name, which the participant's digit follows
     */
    public static void relabel(StringBuilder text, String start, int[] labels) {
        for (int at = text.indexOf(start); at >= 0; at = text.indexOf(start, at + start.length())) {
            int last = at + start.length();
            text.setCharAt(last, (char) ('0' + labels[text.charAt(last) - '0']));
        }
    }
}
