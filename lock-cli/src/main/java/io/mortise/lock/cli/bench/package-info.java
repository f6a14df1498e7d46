/** A quick figure on one's own store. */
@NullMarked
package io.mortise.lock.cli.bench;

import org.jspecify.annotations.NullMarked;
