// SPDX-License-Identifier: Apache-2.0

// The plugin documents the products that this target depends on.
