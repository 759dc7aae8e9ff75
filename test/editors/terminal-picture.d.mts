/** An SVG of a capture of a terminal. */
export function pictureOf(capture: string, title?: string): string;
/** Writes the picture of a capture as SVG or PNG, by the name of the file. */
export function drawPicture(capture: string, file: string, title?: string): void;
