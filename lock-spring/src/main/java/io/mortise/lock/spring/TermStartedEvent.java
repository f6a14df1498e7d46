// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import io.mortise.lock.recipe.Term;

/**
 * Application event of an {@link ElectionLifecycle}: its candidate became the leader. Listeners run on the thread of the election
 * before the body, which waits for them.
 *
 * @param term the term that begins; its lock name tells elections apart
 */
public record TermStartedEvent(Term term) {}
