/** An operator's window: who holds what, and what is wrong with the store. */
@NullMarked
package io.mortise.lock.cli.view;

import org.jspecify.annotations.NullMarked;
