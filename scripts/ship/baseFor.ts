import { debian } from "./debian.ts"
import type { Run } from "./Run.ts"
import { attempt, run } from "./Shell.ts"

const STAND_IN = "localhost/waybill-ship-base"

/** Returns the base image, if not the one in the Dockerfile. */
export const baseFor = async (task: Run, builder: string): Promise<string | undefined> => {
  if (!task.standIn) return task.base
  const root = await debian(task)
  if (builder === "buildah") {
    const container = await run(["buildah", "from", "scratch"])
    await run(["buildah", "add", "--quiet", container, root, "/"])
    await run(["buildah", "commit", "--quiet", "--rm", container, STAND_IN])
  } else {
    await run(["sh", "-c", `tar --directory "$0" --create . | "$1" import - "$2"`, root, builder, STAND_IN])
  }
  task.ends.defer(async () => void (await attempt([builder, "rmi", STAND_IN])))
  return STAND_IN
}
