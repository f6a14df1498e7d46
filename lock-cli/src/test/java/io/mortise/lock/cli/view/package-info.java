@NullMarked
package io.mortise.lock.cli.view;

import org.jspecify.annotations.NullMarked;
