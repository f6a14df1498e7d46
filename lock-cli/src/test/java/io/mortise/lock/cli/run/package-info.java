// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.mortise.lock.cli.run;

import org.jspecify.annotations.NullMarked;
