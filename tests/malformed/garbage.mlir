 hello 
