import { BaseSequencer, type TestSpecification } from "vitest/node"

/**
 * Files that are short and take long. Without results of a former run the largest files begin first, so that these would begin
 * last, and run alone at the end.
 */
export const LONG = ["test/attack/attack.test.ts", "test/server/processes/stop.test.ts"]

/** Begins with what takes long, so that the workers end at about the same time. */
export class LongFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const isLong = ({ moduleId }: TestSpecification) => LONG.some((name) => moduleId.endsWith(`/${name}`))
    const byProject = Map.groupBy(await super.sort(files), ({ project }) => project.name)
    return [...byProject.values()].flatMap((all) => [...all.filter(isLong), ...all.filter((each) => !isLong(each))])
  }
}
