// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.explorer;

import io.mortise.lock.explorer.World.Kind;
import io.mortise.lock.explorer.World.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Collects all that can happen next in a world. Each step changes a draft of its own.
 *
 * @param <W> the world
 * @param <D> the draft: a copy of the world that can be changed
 * @param <F> the kinds of faults
 */
public final class Steps<W, D, F extends Enum<F>> {
    private final FaultBudget<F> faults;
    private final Supplier<D> draft;
    private final Consumer<D> spendFault;
    private final Function<D, W> finish;
    private final List<Step<W>> all = new ArrayList<>();

    /**
     * Starts without steps.
     *
     * @param faults the faults that may happen
     * @param draft makes a copy of the world
     * @param spendFault counts a fault in a draft
     * @param finish makes the next world from a draft
     */
    public Steps(FaultBudget<F> faults, Supplier<D> draft, Consumer<D> spendFault, Function<D, W> finish) {
        this.faults = faults;
        this.draft = draft;
        this.spendFault = spendFault;
        this.finish = finish;
    }

    /** Adds a step. */
    public void add(Supplier<String> label, Kind kind, Consumer<D> change) {
        D next = draft.get();
        change.accept(next);
        all.add(new Step<>(label, kind, finish.apply(next)));
    }

    /** Adds a step that happens in the end. */
    public void progress(Supplier<String> label, Consumer<D> change) {
        add(label, Kind.PROGRESS, change);
    }

    /** Adds a fault, if such a fault may happen. */
    public void fault(F fault, Supplier<String> label, Consumer<D> change) {
        if (faults.allows(fault)) {
            add(label, Kind.OPTIONAL, next -> {
                spendFault.accept(next);
                change.accept(next);
            });
        }
    }

    /** Returns the steps in the order in which they were added. */
    public List<Step<W>> all() {
        return all;
    }
}
