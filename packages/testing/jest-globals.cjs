// Adds the matchers to the `expect` of `@jest/globals`, which has no build of its own here: Jest is not installed with this package.
const { expect } = require("@jest/globals")
const { matchers } = require("@waybill/testing")

expect.extend(matchers)
