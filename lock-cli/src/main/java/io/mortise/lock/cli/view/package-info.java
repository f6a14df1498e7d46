/** The commands for operators, which show and release locks and check the store. */
@NullMarked
package io.mortise.lock.cli.view;

import org.jspecify.annotations.NullMarked;
