// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.mortise.lock.cli.archive;

import org.jspecify.annotations.NullMarked;
