/** Processor time of this process in milliseconds, which does not grow while other processes run. */
export const processorMs = (): number => {
  const { system, user } = process.cpuUsage()
  return (system + user) / 1_000
}
