// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Live: numbers that come from the server this page was loaded from.
export class Live {}
