// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import io.mortise.lock.recipe.Term;
import io.mortise.lock.recipe.TermEnd;

/**
 * Application event of an {@link ElectionLifecycle}: the body of its leader has ended. Listeners run on the thread of the election;
 * the lock is released after them.
 *
 * @param term the term that ends
 * @param end the reason
 */
public record TermEndedEvent(Term term, TermEnd end) {}
