// Every header of Metal's library, when a kernel includes it: library.h is in each text anyway.
