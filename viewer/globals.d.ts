// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What the page leaves in its window: the viewer itself, for the tests and for who looks inside.
interface Window {
  perp: any;
  playground: any;
}
declare module "*.json";
