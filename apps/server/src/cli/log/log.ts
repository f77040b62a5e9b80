import { rotateKey } from "./rotateKey.ts"
import { verify } from "./verify.ts"
import * as DataCommand from "../DataCommand.ts"

export const log = DataCommand.group({
  verify: ["Read all hashes of a log over HTTP and compare them with its signed head", verify],
  "rotate-key": ["Make a new key for the log; the former one signs beside it for a while", rotateKey],
})
