// Stands for body-parser, which express loads with its tables of character sets. No route of ours reads a body.
export {};
