// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.mortise.lock.cli.help;

import org.jspecify.annotations.NullMarked;
