/** The file of the command `waybill`, unless it is not installed. */
export declare const findLauncher: () => string | undefined
export declare const findNode: (launcher: string) => Promise<string>
