// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.redlock.grant.RedlockContenderEvent.Answer;
import io.mortise.lock.redlock.vote.Quorum;
import io.mortise.lock.redlock.vote.YesNoTally;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** The answers of all masters to one request that needs a majority. An immutable value. */
record Answers(List<Answer> ofMasters) {
    static Answers pending(int masters) {
        return new Answers(Collections.nCopies(masters, Answer.PENDING));
    }

    Answers with(int master, Answer answer) {
        List<Answer> next = new ArrayList<>(ofMasters);
        next.set(master, answer);
        return new Answers(Collections.unmodifiableList(next));
    }

    Answer of(int master) {
        return ofMasters.get(master);
    }

    int count(Answer answer) {
        return Collections.frequency(ofMasters, answer);
    }

    YesNoTally.Result result() {
        return YesNoTally.decide(new Quorum(ofMasters.size()), count(Answer.YES), count(Answer.NO), count(Answer.NONE));
    }
}
